# @check-wrong-answer: few many
n = int(input())
a = b = 1
for _ in range(n): a, b = b, a + b
print(n, "stairs", a, "ways")
