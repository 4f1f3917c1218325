package results

import "github.com/redis/go-redis/v9"

// The keys of problems:
//
//	{jf}:problem:<id>   hash  current, last (the highest number given), rev, and of each
//	                          version n: v:n its judge.ProblemInfo, p:n its package and digest
//	{jf}:problems       zset  every id, score 0: in byte order
//	{jf}:problems-gone  zset  deleted ids by the time in ms, for a day
//	{jf}:quarantine     hash  judge.Quarantine by package
//
// Every script of one problem takes
//
//	KEYS  1 problem  2 problems  3 gone
//	ARGV  1 id  2... its own
//
// and returns a list whose first element is codeOK or one of these.
const (
	codeNoProblem = -11
	codeNoVersion = -12
	codeFull      = -13
)

type problemScripts struct{ put, get, all, point, remove, restore *redis.Script }

func newProblemScripts() problemScripts {
	one := func(body string) *redis.Script { return redis.NewScript(problemLib + body) }
	return problemScripts{
		put: one(scriptPutProblem), get: one(scriptGetProblem), all: one(scriptAllVersions),
		point: one(scriptPointProblem), remove: one(scriptDeleteProblem), restore: one(scriptRestoreProblem),
	}
}

// problemLib is put before every script of one problem.
const problemLib = `
local problem, problems, gone, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

local function now()
	local t = redis.call('TIME')
	return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- numbers returns those of the versions that are kept, rising.
local function numbers()
	local all = {}
	for _, field in ipairs(redis.call('HKEYS', problem)) do
		if string.sub(field, 1, 2) == 'v:' then all[#all + 1] = tonumber(string.sub(field, 3)) end
	end
	table.sort(all)
	return all
end

-- version returns {code, number, info}.
local function version(n)
	local info = redis.call('HGET', problem, 'v:' .. n)
	if not info then return {-12} end
	return {0, tonumber(n), info}
end
`

// ARGV 2 info, 3 package and digest, 4 most problems, 5 most versions. Returns {code,
// number, info} of the version that is now current: OK or full.
const scriptPutProblem = `
local current = redis.call('HGET', problem, 'current')
if current and redis.call('HGET', problem, 'p:' .. current) == ARGV[3] then return version(current) end
if not current and redis.call('ZCARD', problems) >= tonumber(ARGV[4]) then return {-13} end
local n = redis.call('HINCRBY', problem, 'last', 1)
redis.call('HINCRBY', problem, 'rev', 1)
redis.call('HSET', problem, 'current', n, 'v:' .. n, ARGV[2], 'p:' .. n, ARGV[3])
redis.call('ZADD', problems, 0, id)
redis.call('ZREM', gone, id)
local kept = numbers()
for i = 1, #kept - tonumber(ARGV[5]) do
	redis.call('HDEL', problem, 'v:' .. kept[i], 'p:' .. kept[i])
end
return version(n)
`

// ARGV 2 number, 0 is the current version. Returns {code, number, info}: OK, no
// problem or no version.
const scriptGetProblem = `
local current = redis.call('HGET', problem, 'current')
if not current then return {-11} end
if ARGV[2] == '0' then return version(current) end
return version(ARGV[2])
`

// Returns {code, current, rev, number, info, number, info...}, rising: OK or no problem.
const scriptAllVersions = `
local f = redis.call('HMGET', problem, 'current', 'rev')
if not f[1] then return {-11} end
local all = {0, tonumber(f[1]), tonumber(f[2])}
for _, n in ipairs(numbers()) do
	all[#all + 1] = n
	all[#all + 1] = redis.call('HGET', problem, 'v:' .. n)
end
return all
`

// ARGV 2 number, 0 is the newest before the current one. Returns {code, number,
// info}: OK, no problem or no version.
const scriptPointProblem = `
local current = redis.call('HGET', problem, 'current')
if not current then return {-11} end
local n = tonumber(ARGV[2])
if n == 0 then
	for _, one in ipairs(numbers()) do
		if one < tonumber(current) then n = one end
	end
end
local found = version(n)
if found[1] == 0 and n ~= tonumber(current) then
	redis.call('HSET', problem, 'current', n)
	redis.call('HINCRBY', problem, 'rev', 1)
end
return found
`

// ARGV 2 how long a deleted id is remembered, in ms. Returns {code}: OK or no problem.
const scriptDeleteProblem = `
if redis.call('DEL', problem) == 0 then return {-11} end
local t = now()
redis.call('ZREM', problems, id)
redis.call('ZREMRANGEBYSCORE', gone, '-inf', t - tonumber(ARGV[2]))
redis.call('ZADD', gone, t, id)
return {0}
`

// ARGV 2 how long a deleted id is remembered, in ms, 3 current, 4 rev, 5 last, then
// number, info, package and digest of each version. Returns {code, restored}.
const scriptRestoreProblem = `
local deleted = redis.call('ZSCORE', gone, id)
if deleted and tonumber(deleted) > now() - tonumber(ARGV[2]) then return {0, 0} end
if redis.call('EXISTS', problem) == 1 then return {0, 0} end
redis.call('HSET', problem, 'current', ARGV[3], 'rev', ARGV[4], 'last', ARGV[5])
for i = 6, #ARGV, 3 do
	redis.call('HSET', problem, 'v:' .. ARGV[i], ARGV[i + 1], 'p:' .. ARGV[i], ARGV[i + 2])
end
redis.call('ZADD', problems, 0, id)
return {0, 1}
`
