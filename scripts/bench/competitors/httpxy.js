// httpxy with a keep-alive agent towards the upstream. Arguments: listening port, upstream port.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'httpxy';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const proxy = createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 128 }),
});
createServer((request, response) => {
  proxy.web(request, response).catch(() => response.destroy());
}).listen(port, '127.0.0.1');
