n = int(input())
prime = [True] * (n + 1)
prime[0] = prime[1] = False
for d in range(2, int(n**0.5) + 1):
    if prime[d]:
        for m in range(d * d, n + 1, d):
            prime[m] = False
pair = next(((p, n - p) for p in range(n // 2, n) if prime[p] and prime[n - p]), None)
print(*(pair or ["none"]))
