// @fastify/http-proxy. Arguments: listening port, upstream port.
import Fastify from 'fastify';
import httpProxy from '@fastify/http-proxy';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const server = Fastify();
server.register(httpProxy, { upstream: `http://127.0.0.1:${upstreamPort}` });
await server.listen({ port, host: '127.0.0.1' });
