-- Ask for a turn at a host, keeping its delay over all workers. A turn begins now or not at all: nobody reserves a
-- moment to come, so that one who was held up cannot make the next one come too soon behind him.
-- KEYS: next moment of the host
-- ARGV: now, delay in seconds
-- Answers {granted 1 or 0, the moment, as text, when the host may be asked next}.
local now, delay = tonumber(ARGV[1]), tonumber(ARGV[2])
local moment = tonumber(redis.call('GET', KEYS[1]) or '0')
if moment > now then return {0, string.format('%.6f', moment)} end
redis.call('SET', KEYS[1], string.format('%.6f', now + delay), 'EX', math.ceil(delay) + 1)
return {1, string.format('%.6f', now + delay)}
