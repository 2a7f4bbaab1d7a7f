-- Which of these keys are not surely stored?
-- KEYS: seen-set
-- ARGV: keys of URLs
-- Answers the places (1, 2, ...) of the keys that are not in the set.
local unseen = {}
for place, key in ipairs(ARGV) do
  if redis.call('SISMEMBER', KEYS[1], key) == 0 then unseen[#unseen + 1] = place end
end
return unseen
