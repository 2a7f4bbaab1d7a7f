-- Put pages of one host into the frontier, unless they are waiting there already or are handed out.
-- KEYS: hosts, known_hosts, queue of the host, active, rest, taken
-- ARGV: host, slices of this host that may be out at once, then id, due, id, due, ...
-- Answers how many were new to the queue.
-- Uses: rescore
local hosts, known, queue, active, rest, taken = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local host, at_once = ARGV[1], tonumber(ARGV[2])
local added = 0
for i = 3, #ARGV, 2 do
  if redis.call('SISMEMBER', taken, ARGV[i]) == 0 then
    added = added + redis.call('ZADD', queue, 'NX', ARGV[i + 1], ARGV[i])
  end
end
redis.call('SADD', known, host)
rescore(hosts, queue, rest, host, tonumber(redis.call('HGET', active, host) or '0'), at_once)
return added
