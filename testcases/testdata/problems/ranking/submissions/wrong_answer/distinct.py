# Gives equal points different places.
import sys

rows = [line.split() for line in sys.stdin if line.strip()]
rows.sort(key=lambda row: (-int(row[1]), row[0]))
for place, (name, points) in enumerate(rows, 1):
    print(f"{place}. {name} {points}")
