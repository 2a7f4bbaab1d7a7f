-- Give a page that waits another due time, and the member of another priority. One that does not wait is skipped.
-- KEYS: hosts, known_hosts, queue of the lane, active, rest, taken, pace, weights, waiting
-- ARGV: lane, default slices at once, default pages a slice, member, new member, due
-- Returns 1 when it waited, else 0.
-- Uses: rescore
-- Uses: pace
-- Uses: adjust_size
local queue, active, pace, lane = KEYS[3], KEYS[4], KEYS[7], ARGV[1]
if redis.call('ZREM', queue, ARGV[4]) == 0 then return 0 end
-- The new member may wait already: the ready queue was filled again since the page's row was changed.
adjust_size(KEYS[9], redis.call('ZADD', queue, ARGV[6], ARGV[5]) - 1)
local at_once, pages = pace_of(pace, lane, ARGV[2], ARGV[3])
local keys = {hosts = KEYS[1], known = KEYS[2], queue = queue, rest = KEYS[5], pace = pace, weights = KEYS[8]}
rescore(keys, lane, tonumber(redis.call('HGET', active, lane) or '0'), at_once, pages)
return 1
