package results

import "github.com/redis/go-redis/v9"

// The keys of a submission and of the store. All carry the hash tag {prefix}, so
// that they share one cluster slot:
//
//	{jf}:sub:<id>  hash    record, state, worker, charged, fence, cancel, seq,
//	                       problem where it is named; when it is final: final or
//	                       why, judged, and number once a rejudge was applied
//	{jf}:ev:<id>   list    events of the newest attempt; the last one has number seq.
//	                       An event is its kind (s, c or f) followed by its data
//	{jf}:queued    zset    id by the time it was queued or last offered by Waiting
//	{jf}:leases    zset    id by the end of its lease
//	{jf}:finals    zset    id by the time it became final
//	{jf}:events    channel kind and id of each event
//
// Those of problems are in scripts_problems.go, of rejudges in scripts_rejudges.go.
//
// All times are milliseconds of Redis's own clock, with a fraction that keeps the
// order of what happened within one, so the clocks of workers and dispatchers do
// not matter.
//
// Every script of one submission takes
//
//	KEYS  1 sub  2 ev  3 queued  4 leases  5 finals  6 by-problem
//	ARGV  1 channel  2 id  3... its own
//
// and returns a list whose first element is one of these codes.
const (
	codeOK       = 0
	codeNotFound = -1
	codeNotOpen  = -2
	codeExists   = -3
	codeFenced   = -4
)

// scriptLib is put before every script of one submission.
const scriptLib = `
local sub, ev, queued, leases, finals = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local channel, id = ARGV[1], ARGV[2]

local function now()
	local t = redis.call('TIME')
	return t[1] * 1000 + t[2] / 1000
end

local function add(kind, data)
	redis.call('HINCRBY', sub, 'seq', 1)
	redis.call('RPUSH', ev, kind .. data)
	redis.call('PUBLISH', channel, kind .. id)
end

local function queue(charged)
	redis.call('HSET', sub, 'state', 'queued')
	redis.call('ZREM', leases, id)
	redis.call('ZADD', queued, now(), id)
	add('s', '{"state":"queued","attempt":' .. charged .. '}')
end

local function finish(state)
	local t = now()
	redis.call('HSET', sub, 'state', state, 'judged', math.floor(t))
	redis.call('ZREM', queued, id)
	redis.call('ZREM', leases, id)
	redis.call('ZADD', finals, t, id)
	add('f', '')
end

-- held tells whether the attempt is the newest and still judging.
local function held(fence)
	local state = redis.call('HGET', sub, 'state')
	if not state then return -1 end
	if state ~= 'judging' or redis.call('HGET', sub, 'fence') ~= fence then return -4 end
	return 0
end

local function release(charge, attempts, why)
	local charged = tonumber(redis.call('HGET', sub, 'charged'))
	if not charge then
		charged = charged - 1
		redis.call('HSET', sub, 'charged', charged)
	end
	if redis.call('HGET', sub, 'cancel') == '1' then
		finish('cancelled')
		return 'cancelled'
	end
	if charge and charged >= attempts then
		redis.call('HSET', sub, 'why', why)
		finish('failed')
		return 'failed'
	end
	queue(charged)
	return 'queued'
end
`

// scripts are compiled once per store; a redis.Script keeps its digest only.
type scripts struct {
	create, lease, renew, progress, finish, release, cancel, reap, offer *redis.Script
	read, events, due, drop                                              *redis.Script
	problem                                                              problemScripts
	rejudge                                                              rejudgeScripts
}

func newScripts() scripts {
	one := func(body string) *redis.Script { return redis.NewScript(scriptLib + body) }
	return scripts{
		create: one(scriptCreate), lease: one(scriptLease), renew: one(scriptRenew), progress: one(scriptProgress),
		finish: one(scriptFinish), release: one(scriptRelease), cancel: one(scriptCancel), reap: one(scriptReap),
		offer: one(scriptOffer), read: redis.NewScript(scriptRead), events: redis.NewScript(scriptEvents),
		due: redis.NewScript(scriptDue), drop: redis.NewScript(scriptDrop), problem: newProblemScripts(),
		rejudge: newRejudgeScripts(),
	}
}

// ARGV 3 record, 4 the problem that it is listed under, or ”. Returns {code}: OK or exists.
const scriptCreate = `
if redis.call('EXISTS', sub) == 1 then return {-3} end
redis.call('HSET', sub, 'record', ARGV[3], 'charged', 0, 'fence', 0, 'cancel', 0, 'seq', 0)
if ARGV[4] ~= '' then
	redis.call('HSET', sub, 'problem', ARGV[4])
	redis.call('ZADD', KEYS[6], 0, ARGV[4] .. ' ' .. id)
end
queue(0)
return {0}
`

// ARGV 3 worker, 4 worker as JSON, 5 ttl in ms. Returns {code, charged, fence}: OK,
// not found or not open. The events of earlier attempts are dropped.
const scriptLease = `
local state = redis.call('HGET', sub, 'state')
if not state then return {-1} end
if state ~= 'queued' then return {-2} end
local charged = redis.call('HINCRBY', sub, 'charged', 1)
local fence = redis.call('HINCRBY', sub, 'fence', 1)
redis.call('HSET', sub, 'state', 'judging', 'worker', ARGV[3])
redis.call('ZREM', queued, id)
redis.call('ZADD', leases, now() + tonumber(ARGV[5]), id)
redis.call('DEL', ev)
add('s', '{"state":"judging","attempt":' .. charged .. ',"worker":' .. ARGV[4] .. '}')
return {0, charged, fence}
`

// ARGV 3 fence, 4 ttl in ms. Returns {code, cancel}: OK, not found or fenced.
const scriptRenew = `
local code = held(ARGV[3])
if code ~= 0 then return {code} end
redis.call('ZADD', leases, now() + tonumber(ARGV[4]), id)
return {0, tonumber(redis.call('HGET', sub, 'cancel'))}
`

// ARGV 3 fence, 4 most case events, 5... case events. Returns {code}: OK, not found
// or fenced. One message tells of all of them. One of the list is the state event.
const scriptProgress = `
local code = held(ARGV[3])
if code ~= 0 then return {code} end
local n = math.min(#ARGV - 4, tonumber(ARGV[4]) + 1 - redis.call('LLEN', ev))
for i = 5, 4 + n do redis.call('RPUSH', ev, 'c' .. ARGV[i]) end
if n > 0 then
	redis.call('HINCRBY', sub, 'seq', n)
	redis.call('PUBLISH', channel, 'c' .. id)
end
return {0}
`

// ARGV 3 fence, 4 judgement, 5 its state. Returns {code}: OK, not found or fenced. The
// same judgement of the same attempt once more is OK: its first answer was lost.
const scriptFinish = `
local code = held(ARGV[3])
if code == -4 and redis.call('HGET', sub, 'fence') == ARGV[3] and redis.call('HGET', sub, 'final') == ARGV[4] then
	return {0}
end
if code ~= 0 then return {code} end
redis.call('HSET', sub, 'final', ARGV[4])
finish(ARGV[5])
return {0}
`

// ARGV 3 fence, 4 "1" to charge the attempt, 5 most attempts, 6 judge.Failed.
// Returns {code, state}: OK, not found or fenced.
const scriptRelease = `
local code = held(ARGV[3])
if code ~= 0 then return {code} end
return {0, release(ARGV[4] == '1', tonumber(ARGV[5]), ARGV[6])}
`

// Returns {code, state}: OK or not found.
const scriptCancel = `
local state = redis.call('HGET', sub, 'state')
if not state then return {-1} end
if state == 'queued' then
	redis.call('HSET', sub, 'cancel', 1)
	finish('cancelled')
	return {0, 'cancelled'}
end
if state == 'judging' then redis.call('HSET', sub, 'cancel', 1) end
return {0, state}
`

// ARGV 3 ms to add to Redis's clock, 4 most attempts, 5 judge.Failed. Ends the
// attempt when its lease ran out, whatever its number. Returns {code}: OK, or
// fenced when another was faster or the lease was renewed.
const scriptReap = `
local ends = redis.call('ZSCORE', leases, id)
if not ends or tonumber(ends) >= now() + tonumber(ARGV[3]) then return {-4} end
release(true, tonumber(ARGV[4]), ARGV[5])
return {0}
`

// ARGV 3 ms to add to Redis's clock. Marks a queued submission as offered. Returns
// {code}: OK, or fenced when another was faster or it is queued no more.
const scriptOffer = `
local since = redis.call('ZSCORE', queued, id)
local t = now()
if not since or tonumber(since) >= t + tonumber(ARGV[3]) then return {-4} end
redis.call('ZADD', queued, t, id)
return {0}
`

// KEYS 1 sub, 2 ev. Returns {} when there is none, else {fields, events}: the
// fields of readFields in their order, and the events unless a judgement is there.
const scriptRead = `
local f = redis.call('HMGET', KEYS[1], 'record', 'state', 'worker', 'charged', 'fence', 'cancel', 'final', 'why', 'judged', 'number')
if not f[1] then return {} end
if f[7] then return {f, {}} end
return {f, redis.call('LRANGE', KEYS[2], 0, -1)}
`

// KEYS 1 sub, 2 ev. ARGV 1 number after which to read, 2 most events. Returns {}
// when there is no such submission, else {state, seq, number of the first event
// returned, events}.
const scriptEvents = `
local f = redis.call('HMGET', KEYS[1], 'state', 'seq')
if not f[1] then return {} end
local seq, after = tonumber(f[2]), tonumber(ARGV[1])
local first = seq - redis.call('LLEN', KEYS[2]) + 1
local from = math.max(0, after + 1 - first)
return {f[1], seq, first + from, redis.call('LRANGE', KEYS[2], from, from + tonumber(ARGV[2]) - 1)}
`

// KEYS 1 a zset of times. ARGV 1 ms to add to Redis's clock, 2 most ids, 3 how many
// members may stay at most, or -1. Returns the ids before that time, oldest first;
// where too many would stay, so many of the oldest.
const scriptDue = `
local t = redis.call('TIME')
local bound = t[1] * 1000 + t[2] / 1000 + tonumber(ARGV[1])
local most, keep = tonumber(ARGV[2]), tonumber(ARGV[3])
local over = redis.call('ZCARD', KEYS[1]) - keep
if keep >= 0 and over > 0 then
	return redis.call('ZRANGE', KEYS[1], 0, math.min(over, most) - 1)
end
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.3f', bound), 'LIMIT', 0, most)
`

// KEYS 1 finals, 2 by-problem, then sub and ev of each id. ARGV the ids. Drops final
// submissions. Returns how many.
const scriptDrop = `
local n = 0
for i, id in ipairs(ARGV) do
	local sub = KEYS[2 * i + 1]
	if redis.call('ZREM', KEYS[1], id) == 1 then
		local problem = redis.call('HGET', sub, 'problem')
		if problem then redis.call('ZREM', KEYS[2], problem .. ' ' .. id) end
		redis.call('DEL', sub, KEYS[2 * i + 2])
		n = n + 1
	end
end
return n
`
