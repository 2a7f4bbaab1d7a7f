-- Takes one try back from each count; it came to something.
-- KEYS: the counts
-- Answers: nothing
for _, key in ipairs(KEYS) do
  if tonumber(redis.call("GET", key) or "0") > 0 then
    redis.call("DECR", key)
  end
end
