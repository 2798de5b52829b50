// fast-proxy on node's own server. Arguments: listening port, upstream port.
import { createServer } from 'node:http';
import createFastProxy from 'fast-proxy';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const fastProxy = createFastProxy({ base: `http://127.0.0.1:${upstreamPort}` });
createServer((request, response) => fastProxy.proxy(request, response, request.url, {})).listen(
  port,
  '127.0.0.1',
);
