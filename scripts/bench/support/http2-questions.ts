/** The questions of `npm run bench` about HTTP/2, asked of Sluice and Envoy alone. */
import { runH2load, type Http2Load } from './h2load.ts';
import { GRPC_SERVICE_PORT_OFFSET } from './asked-services.ts';
import { runMessageStream, STREAM_PORT_OFFSET } from './message-stream.ts';
import { isInstalled } from './processes.ts';
import { measured, type Question, throughput } from './questions.ts';

const load = (shape: Omit<Http2Load, 'port' | 'seconds'>): Question['measure'] =>
  measured((port, seconds) => runH2load({ ...shape, port, seconds }));

const GET = 'requests/s, GET of 13 bytes';
/** Its answer is the same message for every call. */
const UNARY = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const MANY = { connections: 100, streams: 10 };

const all: readonly Question[] = [
  {
    name: 'h2c',
    unit: `${GET}, 100 connections of 10 streams, HTTP/2 to the host as well`,
    toReference: 1.5,
    traits: ['http2_hosts'],
    measure: load(MANY),
  },
  {
    name: 'h2-tls',
    unit: `${GET}, 100 connections of 10 streams over TLS, HTTP/2 to the host as well`,
    toReference: 1.4,
    traits: ['http2_hosts'],
    certificate: 'rsa',
    measure: load({ ...MANY, isSecure: true }),
  },
  {
    name: 'h2-one-connection',
    unit: `${GET}, one connection of 100 streams, HTTP/2 to the host as well`,
    toReference: 1.4,
    traits: ['http2_hosts'],
    measure: load({ connections: 1, streams: 100 }),
  },
  {
    name: 'h2-to-h1',
    unit: `${GET}, 100 connections of 10 streams, HTTP/1 to the host`,
    toReference: 1.5,
    measure: load(MANY),
  },
  {
    name: 'h1-to-h2',
    unit: `${GET}, 64 connections of HTTP/1, HTTP/2 to the host`,
    toReference: 1.5,
    traits: ['http2_hosts'],
    measure: throughput({ connections: 64 }),
  },
  {
    name: 'h2-body-10k',
    unit: 'requests/s, GET of 10 KiB, 100 connections of 10 streams',
    toReference: 1.3,
    traits: ['http2_hosts'],
    measure: load({ ...MANY, path: '/10k' }),
  },
  {
    name: 'h2-upload-10k',
    unit: 'requests/s, POST of 10 KiB, 100 connections of 10 streams',
    toReference: 1.2,
    traits: ['http2_hosts'],
    measure: load({ ...MANY, path: '/upload', upload: 10 * 1024 }),
  },
  {
    name: 'grpc-unary',
    unit: 'calls/s of gRPC, one message each way, 100 connections of 10 streams',
    toReference: 1.4,
    filters: ({ upstreamPort }) => ({
      http_filters: [],
      service: { port: upstreamPort + GRPC_SERVICE_PORT_OFFSET, isGrpc: true },
      route: { cluster: 'service' },
    }),
    measure: load({ ...MANY, path: UNARY, isGrpc: true }),
  },
  {
    name: 'grpc-stream',
    unit: 'messages/s of one gRPC stream, 1,000,000 of 16 bytes, each in a frame of its own',
    toReference: 1.3,
    traits: ['no_timeout'],
    filters: ({ upstreamPort }) => ({
      http_filters: [],
      service: { port: upstreamPort + STREAM_PORT_OFFSET, isGrpc: true },
      route: { cluster: 'service' },
    }),
    measure: measured(runMessageStream),
  },
];

/** None without h2load. */
export const http2Questions: readonly Question[] = isInstalled('h2load') ? all : [];
