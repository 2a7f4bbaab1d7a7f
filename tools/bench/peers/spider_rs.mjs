// One crawl by spider-rs: `node spider_rs.mjs URL`; it has no option for the number of connections. Its last line is what came of it, as JSON.
import { Website } from "@spider-rs/spider-rs";

const website = new Website(process.argv[2]).withRespectRobotsTxt(false);
const began = process.hrtime.bigint();
const before = process.cpuUsage();
await website.crawl();
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const used = process.cpuUsage(before);
const pages = website.getLinks().length;
console.log(JSON.stringify({ pages, links: null, seconds, cpu_seconds: (used.user + used.system) / 1e6 }));
