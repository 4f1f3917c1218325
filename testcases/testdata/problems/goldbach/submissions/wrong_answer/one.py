# Takes one for a prime.
def prime(n):
    return all(n % d for d in range(2, int(n**0.5) + 1))


n = int(input())
pair = next(((p, n - p) for p in range(1, n) if prime(p) and prime(n - p)), None)
print(*(pair or ["none"]))
