-- Take slots of a lane's workers for batches that are about to be handed out. A slot is taken while the lease of its
-- batch exists, so no process has to give it back. The score is 0 once the lease was there.
-- KEYS: taken slots
-- ARGV: slots there are, now, seconds in which a batch gets its lease, at most, then keys of leases
-- Returns how many of these batches, from the first on, have a slot.
local slots, now, grace = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local taken = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local used = 0
for i = 1, #taken, 2 do
  local since = tonumber(taken[i + 1])
  local is_coming = since <= now + 1 and since > now - grace
  if redis.call('EXISTS', taken[i]) == 1 or is_coming then used = used + 1 else redis.call('ZREM', KEYS[1], taken[i]) end
end
local given = math.max(0, math.min(slots - used, #ARGV - 3))
for i = 1, given do redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3 + i]) end
if given > 0 then redis.call('EXPIRE', KEYS[1], 86400) end
return given
