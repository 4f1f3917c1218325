# Divides by n - 1, and prints nan for a single number.
import math
import sys

numbers = list(map(float, sys.stdin.read().split()[1:]))
n = len(numbers)
mean = math.fsum(numbers) / n
spread = math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / (n - 1)) if n > 1 else math.nan
print(mean, spread)
