package queue

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// The keys of the line. All carry the hash tag {prefix}, as do asynq's keys of the
// queue of that name, so that one script may touch all of them:
//
//	{jf}:q:jobs           hash   id -> Job, from Push until a worker takes it
//	{jf}:q:handed         zset   id by the time until which asynq must have it
//	{jf}:q:numbers        hash   id -> number of its place in the line, or of its asynq task
//	{jf}:q:depth          hash   priority -> how many wait
//	{jf}:q:seq            string counter that orders everything
//	{jf}:q:<p>:front      zset   ids before all turns
//	{jf}:q:<p>:ring       zset   fair keys that have jobs, by their turn
//	{jf}:q:<p>:live       hash   fair key -> its jobs in the line
//	{jf}:q:<p>:fair:<k>   list   "number id" of one fair key, oldest first. An entry
//	                             counts when the number is still the job's: so a
//	                             cancel is O(1) and miniredis, which sorts a zset
//	                             for each look at it, is quick with long lines
//	{jf}:q:workers        zset   worker by the end of its announcement
//	{jf}:q:slots          hash   worker -> its slots
//	{jf}:q:total          string slots of all live workers
//	{jf}:q:drained        hash   ten-second window -> jobs taken in it
//	{jf}:q:pace           hash   r, jobs a second as a decaying average, at time t
//	{jf}:q:wake           channel told when a feeder may have something to do
//	asynq:{jf}:pending    list   asynq's own
//	asynq:{jf}:t:<task>   hash   asynq's own
//
// Every script takes all fixed keys in the order of keysOf, and
//
//	ARGV  1 key prefix {jf}:q:  2 key prefix asynq:{jf}:t:  3... its own
//
// The keys of one fair key and one task are made in the script from these
// prefixes: same slot, but their names are known only there. Every script costs
// O(log n) for each job it touches, cancelled ones counted where they are skipped. Times are milliseconds of Redis's clock.
func keysOf(prefix string) []string {
	p := "{" + prefix + "}:q:"
	keys := []string{p + "jobs", p + "handed", p + "numbers", p + "depth", p + "seq"}
	for _, priority := range priorities() {
		keys = append(keys, p+priority+":front", p+priority+":ring", p+priority+":live")
	}
	return append(keys, p+"workers", p+"slots", p+"total", p+"drained", p+"pace", "asynq:{"+prefix+"}:pending")
}

const scriptLib = `
local jobs, handed, numbers, depth, seq = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local order = {'interactive', 'train', 'batch'}
local front = {interactive = KEYS[6], train = KEYS[9], batch = KEYS[12]}
local ring = {interactive = KEYS[7], train = KEYS[10], batch = KEYS[13]}
local live = {interactive = KEYS[8], train = KEYS[11], batch = KEYS[14]}
local workers, slots, total, drained, pace, pending = KEYS[15], KEYS[16], KEYS[17], KEYS[18], KEYS[19], KEYS[20]

local function now()
	local t = redis.call('TIME')
	return t[1] * 1000 + math.floor(t[2] / 1000)
end

local function wake() redis.call('PUBLISH', ARGV[1] .. 'wake', '1') end

-- held is what asynq holds. A cancelled job stays in its list, a job on its way is
-- not there yet: the larger count of the two.
local function held() return math.max(redis.call('ZCARD', handed), redis.call('LLEN', pending)) end

-- rate is the average with a time constant of a second.
local function rate(t)
	local p = redis.call('HMGET', pace, 't', 'r')
	if not p[1] then return 0 end
	return tonumber(p[2]) * math.exp(math.min(0, tonumber(p[1]) - t) / 1000)
end

-- target is how much asynq should hold: one job for each slot, and what the farm
-- takes in 50 ms. asynq sleeps 5 to 15 ms when it finds nothing, so with a job a
-- slot alone short jobs would wait for it: 450 a second on 4 slots at most.
local function target(fixed)
	if fixed > 0 then return fixed end
	local all = math.max(2, tonumber(redis.call('GET', total) or '0'))
	return all + math.min(1000, math.floor(rate(now()) * 0.05))
end

local function fair(priority, key) return ARGV[1] .. priority .. ':fair:' .. key end

-- place puts a job that is in jobs into its turn, or before all turns.
local function place(id, priority, key, first)
	local n = redis.call('INCR', seq)
	redis.call('HSET', numbers, id, n)
	if first then
		redis.call('ZADD', front[priority], n, id)
		return
	end
	redis.call('RPUSH', fair(priority, key), n .. ' ' .. id)
	if redis.call('HINCRBY', live[priority], key, 1) == 1 then redis.call('ZADD', ring[priority], n, key) end
end

-- counts tells the id of an entry of a line, or nil when its job is not there any more.
local function counts(entry)
	local n, id = string.match(entry, '^(%d+) (.*)$')
	if redis.call('HGET', numbers, id) == n then return id end
end

-- left counts a job out of its line and returns how many are left. It drops entries
-- that do not count once they are the most, so that each of them is read once.
local function left(priority, key)
	local n = redis.call('HINCRBY', live[priority], key, -1)
	local line = fair(priority, key)
	if n <= 0 then
		redis.call('HDEL', live[priority], key)
		redis.call('ZREM', ring[priority], key)
		redis.call('DEL', line)
	elseif redis.call('LLEN', line) > 2 * n + 100 then
		local entries = redis.call('LRANGE', line, 0, -1)
		redis.call('DEL', line)
		for _, entry in ipairs(entries) do
			if counts(entry) then redis.call('RPUSH', line, entry) end
		end
	end
	return n
end

-- forget removes a job from everywhere and tells whether it was there.
local function forget(id)
	local text = redis.call('HGET', jobs, id)
	if not text then return false end
	local job = cjson.decode(text)
	redis.call('HDEL', jobs, id)
	redis.call('HDEL', numbers, id)
	redis.call('HINCRBY', depth, job.priority, -1)
	if redis.call('ZREM', handed, id) == 0 and redis.call('ZREM', front[job.priority], id) == 0 then
		left(job.priority, job.fair_key)
	end
	return true
end

-- restore takes a job back from asynq and puts it before all turns.
local function restore(id)
	if redis.call('ZREM', handed, id) == 0 then return 0 end
	local job = cjson.decode(redis.call('HGET', jobs, id))
	place(id, job.priority, job.fair_key, true)
	wake()
	return 1
end
`

type scripts struct {
	push, remove, take, pop, overdue, restore, announce, rate *redis.Script
}

func newScripts() scripts {
	one := func(body string) *redis.Script { return redis.NewScript(scriptLib + body) }
	return scripts{
		push: one(scriptPush), remove: one(scriptRemove), take: one(scriptTake), pop: one(scriptPop),
		overdue: one(scriptOverdue), restore: one(scriptRestore), announce: one(scriptAnnounce), rate: one(scriptRate),
	}
}

// ARGV 3 id, 4 Job, 5 priority, 6 fair key, 7 bound, 8 "1" for the front, 9 as 5 of
// pop. Returns 2 when it was added and asynq has room, 1 when it was added, 0 when
// it waits already, -1 when the line is full.
const scriptPush = `
if redis.call('HEXISTS', jobs, ARGV[3]) == 1 then return 0 end
if ARGV[8] ~= '1' and redis.call('HLEN', jobs) >= tonumber(ARGV[7]) then return -1 end
redis.call('HSET', jobs, ARGV[3], ARGV[4])
redis.call('HINCRBY', depth, ARGV[5], 1)
place(ARGV[3], ARGV[5], ARGV[6], ARGV[8] == '1')
if held() >= target(tonumber(ARGV[9])) then return 1 end
wake()
return 2
`

// ARGV 3 id. Returns 1 when it waited, else 0.
const scriptRemove = `
if forget(ARGV[3]) then return 1 end
return 0
`

// ARGV 3 id. A worker has it: it waits no more, and the drain is counted. Feeders
// are woken when asynq holds half of its target, so that each wake moves several.
// Returns 1 when it waited, else 0.
const scriptTake = `
local known = forget(ARGV[3])
if held() * 2 <= target(0) and redis.call('HLEN', jobs) > redis.call('ZCARD', handed) then wake() end
if not known then return 0 end
local t = now()
redis.call('HSET', pace, 'r', string.format('%.4f', rate(t) + 1), 't', t)
local window = math.floor(t / 10000)
redis.call('HINCRBY', drained, window, 1)
if redis.call('HLEN', drained) > 8 then
	for _, w in ipairs(redis.call('HKEYS', drained)) do
		if tonumber(w) < window - 6 then redis.call('HDEL', drained, w) end
	end
end
return 1
`

// ARGV 3 most jobs, 4 ms until asynq must have them, 5 most jobs in asynq, 0 for
// the target. Marks jobs as handed over, in the order of priority, front and turn.
// Returns {Job, task number, Job, task number, ...}.
const scriptPop = `
local room = target(tonumber(ARGV[5])) - held()
local deadline = now() + tonumber(ARGV[4])

local function first(priority)
	local popped = redis.call('ZPOPMIN', front[priority])
	if popped[1] then return popped[1] end
	local key = redis.call('ZRANGE', ring[priority], 0, 0)[1]
	if not key then return nil end
	local id
	repeat id = counts(redis.call('LPOP', fair(priority, key))) until id
	if left(priority, key) > 0 then redis.call('ZADD', ring[priority], redis.call('INCR', seq), key) end
	return id
end

local out = {}
for _ = 1, math.min(room, tonumber(ARGV[3])) do
	local id
	for _, priority in ipairs(order) do
		id = first(priority)
		if id then break end
	end
	if not id then break end
	local n = redis.call('INCR', seq)
	redis.call('ZADD', handed, deadline, id)
	redis.call('HSET', numbers, id, n)
	out[#out + 1] = redis.call('HGET', jobs, id)
	out[#out + 1] = n
end
return out
`

// ARGV 3 ms until asynq must have them, 4 most jobs. Looks at the jobs whose time is
// over: those pending in asynq get more, the others (the feeder died before it
// enqueued, the worker before it took) go back to the front. Returns how many.
const scriptOverdue = `
local t = now()
local n = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', handed, '-inf', t, 'LIMIT', 0, tonumber(ARGV[4]))) do
	local task = ARGV[2] .. id .. '.' .. (redis.call('HGET', numbers, id) or '')
	if redis.call('HGET', task, 'state') == 'pending' then
		redis.call('ZADD', handed, t + tonumber(ARGV[3]), id)
	else
		n = n + restore(id)
	end
end
return n
`

// ARGV 3 id. Returns 1 when it went back to the front, 0 when it was not handed over.
const scriptRestore = `return restore(ARGV[3])`

// ARGV 3 worker, "" for none, 4 its slots, 0 when it leaves, 5 ms it stays announced.
// Drops workers whose announcement ended. Returns {workers, slots of all}.
const scriptAnnounce = `
local t = now()
if ARGV[3] ~= '' then
	redis.call('ZADD', workers, t + tonumber(ARGV[5]), ARGV[3])
	redis.call('HSET', slots, ARGV[3], ARGV[4])
	if ARGV[4] == '0' then redis.call('ZADD', workers, t, ARGV[3]) end
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', workers, '-inf', t)) do
	redis.call('ZREM', workers, gone)
	redis.call('HDEL', slots, gone)
end
local sum = 0
for _, n in ipairs(redis.call('HVALS', slots)) do sum = sum + tonumber(n) end
if tonumber(redis.call('GET', total) or '0') ~= sum then
	redis.call('SET', total, sum)
	wake()
end
return {redis.call('ZCARD', workers), sum}
`

// Returns {jobs taken in the last minute, ms in which they were}.
const scriptRate = `
local t = now()
local window = math.floor(t / 10000)
local taken, since = 0, t
for _, w in ipairs(redis.call('HKEYS', drained)) do
	if tonumber(w) >= window - 5 then
		taken = taken + tonumber(redis.call('HGET', drained, w))
		since = math.min(since, tonumber(w) * 10000)
	end
end
return {taken, t - since}
`

// do runs a script with the fixed keys and prefixes, bounded by opTimeout.
func (c *conn) do(ctx context.Context, s *redis.Script, args ...any) *redis.Cmd {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	prefixes := []any{strings.TrimSuffix(c.keys[0], "jobs"), "asynq:{" + c.cfg.Prefix + "}:t:"}
	return s.Run(ctx, c.client, c.keys, append(prefixes, args...)...)
}
