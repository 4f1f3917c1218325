import sys

rows = [line.split() for line in sys.stdin if line.strip()]
rows.sort(key=lambda row: (-int(row[1]), row[0]))
place = 0
for i, (name, points) in enumerate(rows):
    if i == 0 or points != rows[i - 1][1]:
        place = i + 1
    print(f"{place}. {name} {points}")
