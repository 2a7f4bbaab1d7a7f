-- Which of these keys are not surely stored?
-- ARGV: start of the names of the seen-set's parts, then part, number, part, number, ... of each key
-- Answers the places (1, 2, ...) of the keys that are not in the set.
local unseen = {}
for i = 2, #ARGV, 2 do
  if redis.call('SISMEMBER', ARGV[1] .. ARGV[i], ARGV[i + 1]) == 0 then unseen[#unseen + 1] = i / 2 end
end
return unseen
