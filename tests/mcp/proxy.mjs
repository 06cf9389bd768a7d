// Adds the password to requests, because the conformance suite sends none. Prints its address; the server's is in a file
// by the time that it is needed.
// Usage: proxy.mjs ADDRESS_FILE CREDENTIALS_FILE
import { readFileSync } from 'node:fs';
import http from 'node:http';

const [addressFile, credentialsFile] = process.argv.slice(2);
const read = (file) => readFileSync(file, 'utf8').trim();

const proxy = http.createServer((request, response) => {
  const authorization = `Basic ${Buffer.from(read(credentialsFile)).toString('base64')}`;
  const headers = { ...request.headers, authorization };
  const sent = http.request(new URL(read(addressFile)), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  request.pipe(sent);
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}`));
