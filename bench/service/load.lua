-- Decisions of one bandit, 20 actions with 20 numbers each. With the argument "rewards", every decision is paid for:
--   wrk -t1 -c64 -d30 -s load.lua http://127.0.0.1:8700 -- rewards
-- DIMENSION=80 in the environment asks for so many numbers instead.
local dimension = tonumber(os.getenv("DIMENSION") or 20)
local headers = { ["content-type"] = "application/json" }
local bodies, paid, at = {}, {}, 0

function init(args)
  for i = 1, 200 do
    local actions = {}
    for k = 1, 20 do
      local features = {}
      for j = 1, dimension do
        features[j] = string.format("%.4f", math.random())
      end
      actions[k] = string.format('{"id":"a%d","features":[%s]}', k, table.concat(features, ","))
    end
    bodies[i] = '{"actions":[' .. table.concat(actions, ",") .. ']}'
  end
  if args[1] == "rewards" then
    response = function(status, _, body)
      local id = status == 200 and body:match('"decision_id":"([^"]+)"')
      if id then
        paid[#paid + 1] = id
      end
    end
  end
end

function request()
  if #paid > 0 then
    local body = string.format('{"decision_id":"%s","reward":%.3f}', table.remove(paid), math.random())
    return wrk.format("POST", "/v1/bandits/load/rewards", headers, body)
  end
  at = at % #bodies + 1
  return wrk.format("POST", "/v1/bandits/load/decisions", headers, bodies[at])
end
