def prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


n = int(input())
candidates = [2] if n % 2 else range(2, n // 2 + 1)  # an odd sum needs the one even prime
pair = next(((p, n - p) for p in candidates if prime(p) and prime(n - p)), None)
print(*(pair or ["none"]))
