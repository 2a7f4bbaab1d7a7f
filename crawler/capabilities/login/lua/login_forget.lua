-- Forgets the session of a log-in that a user has changed, and why it failed; a log-in under way ends in vain.
-- KEYS: lock, login. ARGV: digest of the credentials that are outdated from now on, like earlier ones.
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
    if string.sub(field, 1, 9) ~= 'outdated:' then
        redis.call('HDEL', KEYS[2], field)
    end
end
redis.call('HSET', KEYS[2], 'outdated:' .. ARGV[1], 1)
redis.call('DEL', KEYS[1])
return 1
