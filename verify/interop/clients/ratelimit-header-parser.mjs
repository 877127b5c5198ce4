// Asks every URL for a number of times, one after the other, and prints what the
// parser reads from each response when it is a given instant. Its arguments are
// the instant in milliseconds since the Unix epoch, the number, and the URLs.
import { mock } from 'node:test';
import { parseRateLimit } from 'ratelimit-header-parser';

const [now, times, ...urls] = process.argv.slice(2);

async function read(url) {
  const responses = [];
  for (let i = 0; i < Number(times); i++) {
    const response = await fetch(url);
    await response.text();
    responses.push(response);
  }
  return responses;
}

const answered = await Promise.all(urls.map(read));
mock.timers.enable({ apis: ['Date'], now: Number(now) });
const readings = answered.map((responses) => responses.map((response) => {
  const { limit, remaining, reset } = parseRateLimit(response);
  return { limit, remaining, reset: reset.getTime() };
}));
console.log(JSON.stringify(readings));
