/** gRPC-Web as browsers send it, with `fetch`, to a service of gRPC: binary, and as text. */
import { check, passed, type Trial, type TrialOutcome } from '../trial.ts';
import { DOWNLOADED, startService } from './grpc-service.ts';
import { isAllOver, startBetween } from './sides.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const FILTERS = [
  {
    name: 'envoy.filters.http.grpc_web',
    typed_config: { '@type': `${TYPE}.grpc_web.v3.GrpcWeb` },
  },
  { name: 'envoy.filters.http.router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
];
/** `Text { text: "hello" }` behind its length. */
const FRAME = Buffer.from([0, 0, 0, 0, 7, 0x0a, 5, ...Buffer.from('hello')]);
const TRAILERS = 0x80;

export const grpcWeb: readonly Trial[] = [
  { name: 'gRPC-Web by fetch: unary and a stream down, binary and text', run: both },
];

async function both(): Promise<TrialOutcome> {
  await using service = await startService();
  const sluice = await startBetween({
    upstreamPort: service.port,
    hcm: { http_filters: FILTERS },
  });
  try {
    for (const isText of [false, true]) {
      await expectMessages(`${sluice.url}/trial.Echo/Say`, isText, 1);
      await expectMessages(`${sluice.url}/trial.Echo/Download`, isText, DOWNLOADED);
    }
    await isAllOver(sluice);
  } finally {
    await sluice.stop();
  }
  return passed(`1 and ${DOWNLOADED} messages, trailers in the body, binary and text`);
}

async function expectMessages(url: string, isText: boolean, wanted: number): Promise<void> {
  const type = isText ? 'application/grpc-web-text' : 'application/grpc-web+proto';
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': type, accept: type, 'x-grpc-web': '1' },
    body: isText ? FRAME.toString('base64') : FRAME,
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const frames = framesOf(isText ? decoded(body.toString('latin1')) : body);
  const last = frames.pop();
  check(last?.flags === TRAILERS, 'no trailers in the body');
  check(last?.text.includes('grpc-status:0') === true, `trailers: ${last?.text}`);
  check(frames.length === wanted, `${frames.length} messages of ${wanted}`);
}

/** Each piece of text may be padded by itself. */
function decoded(text: string): Buffer {
  const quads = text.match(/.{4}/g) ?? [];
  return Buffer.concat(quads.map((quad) => Buffer.from(quad, 'base64')));
}

function framesOf(bytes: Buffer): { readonly flags: number; readonly text: string }[] {
  const frames = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    frames.push({ flags: bytes[at] ?? 0, text: bytes.toString('latin1', at + 5, end) });
    at = end;
  }
  return frames;
}
