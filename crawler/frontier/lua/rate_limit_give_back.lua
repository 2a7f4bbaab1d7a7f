-- Takes one attempt back from each counter, because it succeeded.
-- KEYS: the counters
-- Returns nothing.
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then
    redis.call("DECR", key)
  end
end
