# Fails where the standard deviation is zero.
import math
import sys

numbers = list(map(float, sys.stdin.read().split()[1:]))
mean = math.fsum(numbers) / len(numbers)
spread = math.sqrt(math.fsum((x - mean) ** 2 for x in numbers) / len(numbers))
print(mean, 1 / (1 / spread))
