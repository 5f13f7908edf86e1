shared |u age:30 m
 |x a
0:-1.5:0.5 |x b:2 3:4
 |x c

shared 'tag |u:2 age:4
0:0:0.25 |x a
| b

| a
| b
