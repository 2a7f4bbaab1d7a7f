-- Note how far the table has come, before the seen-set learns of its rows; and whether the noted shards of the seen-set are
-- all it has. They are not if an earlier version, whose watermarks begin with a digit, has added keys, or Redis lost them.
-- KEYS: watermark, noted shards
-- ARGV: watermark, which begins with "+", seconds it is kept
-- Returns nothing.
local before = redis.call('GET', KEYS[1])
local is_ours = not before or (string.sub(before, 1, 1) == '+' and redis.call('EXISTS', KEYS[2]) == 1)
redis.call('SADD', KEYS[2], is_ours and 'begun' or 'others')
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
