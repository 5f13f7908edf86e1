#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| truenorth_fuzz::fuzz("events", bytes));
