package results

import "github.com/redis/go-redis/v9"

// The keys of rejudges:
//
//	{jf}:rejudge:<id>  hash  doc (a Rejudge) and state
//	{jf}:rejudges      zset  id by the time it was made, in ms
//	{jf}:by-problem    zset  "problem id" of each submission to a named problem, score
//	                         0: in byte order
//
// The scripts return a list whose first element is codeOK or one of these.
const (
	codeNoRejudge    = -21
	codeUnfinished   = -22
	codeOutdated     = -23
	codeDropped      = -24
	codeApplied      = -25
	codeRejudgesFull = -26
	codeMissing      = -27
)

type rejudgeScripts struct{ create, apply, drop *redis.Script }

func newRejudgeScripts() rejudgeScripts {
	return rejudgeScripts{
		create: redis.NewScript(scriptCreateRejudge), apply: redis.NewScript(scriptApplyRejudge),
		drop: redis.NewScript(scriptDropRejudge),
	}
}

// KEYS 1 rejudges, 2 rejudge. ARGV 1 id, 2 doc, 3 retention in ms, 4 most, 5 the prefix
// of rejudge keys. Drops what is past its retention, and the oldest closed one where
// there are too many. Returns {code}: OK, exists or full.
const scriptCreateRejudge = `
if redis.call('EXISTS', KEYS[2]) == 1 then return {-3} end
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local function forget(id)
	redis.call('DEL', ARGV[5] .. id)
	redis.call('ZREM', KEYS[1], id)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.3f', now - tonumber(ARGV[3])))) do forget(id) end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then
	local closed
	for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
		if redis.call('HGET', ARGV[5] .. id, 'state') ~= 'judging' then
			closed = id
			break
		end
	end
	if not closed then return {-26} end
	forget(closed)
end
redis.call('HSET', KEYS[2], 'doc', ARGV[2], 'state', 'judging')
redis.call('ZADD', KEYS[1], now, ARGV[1])
return {0}
`

// KEYS 1 rejudge, 2 finals, then sub, ev and the new judgement's sub of each
// submission. ARGV 1 channel, then id and the number that is expected of each. All are
// looked at before the first is changed. Returns {code, how many, id at fault}: OK, no
// rejudge, dropped, outdated, missing or unfinished.
const scriptApplyRejudge = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {-21} end
if state == 'applied' then return {0, 0} end
if state == 'dropped' then return {-24} end
local final = {judged = true, failed = true, cancelled = true}
local judged = {}
for i = 1, (#KEYS - 2) / 3 do
	local sub, fresh, id, number = KEYS[3 * i], KEYS[3 * i + 2], ARGV[2 * i], ARGV[2 * i + 1]
	local was = redis.call('HMGET', sub, 'state', 'number')
	if was[1] then
		if not final[was[1]] or (was[2] or '1') ~= number then return {-23, 0, id} end
		local is = redis.call('HGET', fresh, 'state')
		if not is then return {-27, 0, id} end
		if not final[is] then return {-22, 0, id} end
		if is == 'judged' then judged[#judged + 1] = i end
	end
end
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
for _, i in ipairs(judged) do
	local sub, ev, fresh, id = KEYS[3 * i], KEYS[3 * i + 1], KEYS[3 * i + 2], ARGV[2 * i]
	redis.call('HSET', sub, 'final', redis.call('HGET', fresh, 'final'), 'state', 'judged',
		'number', tonumber(ARGV[2 * i + 1]) + 1, 'judged', math.floor(now))
	redis.call('HDEL', sub, 'why')
	redis.call('ZADD', KEYS[2], now, id)
	redis.call('DEL', ev)
	redis.call('HINCRBY', sub, 'seq', 1)
	redis.call('RPUSH', ev, 'f')
	redis.call('PUBLISH', ARGV[1], 'f' .. id)
end
redis.call('HSET', KEYS[1], 'state', 'applied')
return {0, #judged}
`

// KEYS 1 rejudge. Returns {code}: OK, no rejudge or applied.
const scriptDropRejudge = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {-21} end
if state == 'applied' then return {-25} end
redis.call('HSET', KEYS[1], 'state', 'dropped')
return {0}
`
