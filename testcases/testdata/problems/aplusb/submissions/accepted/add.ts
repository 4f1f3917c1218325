import * as fs from "fs";

const [a, b]: bigint[] = fs.readFileSync(0, "utf8").split(/\s+/).filter(Boolean).map(BigInt);
console.log(String(a + b));
