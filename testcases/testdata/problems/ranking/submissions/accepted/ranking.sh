export LC_ALL=C
place=0 row=0 last=
sort -k2,2nr -k1,1 | while read -r name points; do
    row=$((row + 1))
    [ "$points" = "$last" ] || place=$row
    last=$points
    echo "$place. $name $points"
done
