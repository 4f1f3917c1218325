import math
import sys

numbers = list(map(float, sys.stdin.read().split()[1:]))
mean = math.fsum(numbers) / len(numbers)
print(mean, math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / len(numbers)))
