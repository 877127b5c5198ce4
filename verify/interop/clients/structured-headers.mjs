// Asks every URL for a number of times, one after the other, and prints the
// members of the Lists in each response, and the Lists serialised from them. Its
// arguments are the number and the URLs.
import { parseList, serializeList } from 'structured-headers';

const [times, ...urls] = process.argv.slice(2);

function parse(text) {
  const list = parseList(text);
  const members = list.map(([name, parameters]) => ({ name, parameters: Object.fromEntries(parameters) }));
  return { text, members, again: serializeList(list) };
}

async function read(url) {
  const readings = [];
  for (let i = 0; i < Number(times); i++) {
    const response = await fetch(url);
    await response.text();
    readings.push({
      policies: parse(response.headers.get('RateLimit-Policy')),
      limits: parse(response.headers.get('RateLimit')),
    });
  }
  return readings;
}

console.log(JSON.stringify(await Promise.all(urls.map(read))));
