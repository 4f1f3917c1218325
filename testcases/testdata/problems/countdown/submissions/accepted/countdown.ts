import * as fs from "fs";

const n: number = Number(fs.readFileSync(0, "utf8"));
console.log(Array.from({ length: n }, (_, i) => n - i).join("\n"));
