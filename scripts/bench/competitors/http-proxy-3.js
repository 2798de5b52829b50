// http-proxy-3 with a keep-alive agent towards the upstream. Arguments: listening port, upstream port.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const proxy = createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 128 }),
});
proxy.on('error', (_error, _request, response) => response.destroy?.());
createServer((request, response) => proxy.web(request, response)).listen(port, '127.0.0.1');
