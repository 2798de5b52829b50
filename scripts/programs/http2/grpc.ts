/** gRPC with grpc-js at both ends, with grpcurl, and with a client of gRPC-Web. */
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { writeFileSync } from 'node:fs';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { check, passed, runProgram, type Trial, type TrialOutcome } from '../trial.ts';
import { built, GRPCURL, trialWithGo } from '../go-programs.ts';
import { DOWNLOADED, METHODS, PROTO, startService } from './grpc-service.ts';
import { isAllOver, startBetween } from './sides.ts';

const MESSAGES = 2000;
const same = (bytes: Buffer): Buffer => bytes;
const MESSAGE = text('hello');

export const grpcPrograms: readonly Trial[] = [
  { name: 'grpc-js: unary, streams, deadlines, cancellation', run: grpcJs },
  trialWithGo('grpcurl: unary and streams', grpcurl),
];

/** The message `Text` of the trials' service. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x0a, value.length]), Buffer.from(value)]);
}

async function grpcJs(): Promise<TrialOutcome> {
  await using service = await startService();
  await using sluice = await startBetween({ upstreamPort: service.port });
  const client = new Client(`127.0.0.1:${sluice.port}`, credentials.createInsecure());
  try {
    const large = Buffer.alloc(1024 * 1024, 'x');
    for (const message of [MESSAGE, large, Buffer.alloc(0)]) {
      check((await say(client, message)).equals(message), `an echo of ${message.length} is wrong`);
    }
    await streams(client);
    const before = service.cancelled();
    const late = await say(client, MESSAGE, 200).catch((error: ServiceError) => error);
    check('code' in late && late.code === status.DEADLINE_EXCEEDED, 'the deadline did not come');
    await cancel(client);
    await waitUntil('the server to know', () => service.cancelled() >= before + 2);
    await isAllOver(sluice);
    return passed(`${DOWNLOADED} and ${MESSAGES} messages, a deadline, 2 calls cancelled`);
  } finally {
    client.close();
  }
}

/** With a deadline the method that never answers is called. */
function say(client: Client, message: Buffer, deadlineMs?: number): Promise<Buffer> {
  const { path } = deadlineMs === undefined ? METHODS.say : METHODS.wait;
  const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, message, new Metadata(), options, (error, value) =>
      error === null ? resolve(value ?? Buffer.alloc(0)) : reject(error),
    );
  });
}

async function streams(client: Client): Promise<void> {
  let down = 0;
  for await (const message of client.makeServerStreamRequest(
    METHODS.download.path,
    same,
    same,
    MESSAGE,
  )) {
    down += Number(MESSAGE.equals(message as Buffer));
  }
  check(down === DOWNLOADED, `${down} messages came down`);
  const last = await new Promise<Buffer>((resolve, reject) => {
    const up = client.makeClientStreamRequest(METHODS.upload.path, same, same, (error, value) =>
      error === null ? resolve(value ?? Buffer.alloc(0)) : reject(error),
    );
    for (let at = 0; at < MESSAGES; at++) up.write(text(`message ${at}`));
    up.end();
  });
  check(last.equals(text(`message ${MESSAGES - 1}`)), 'the upload ended early');
  const chat = client.makeBidiStreamRequest(METHODS.chat.path, same, same);
  for (let at = 0; at < MESSAGES; at++) chat.write(text(`message ${at}`));
  chat.end();
  let echoed = 0;
  for await (const message of chat) {
    check(text(`message ${echoed++}`).equals(message as Buffer), `message ${echoed} is wrong`);
  }
  check(echoed === MESSAGES, `${echoed} messages were echoed`);
}

/** One call before any answer, one within its answer. */
async function cancel(client: Client): Promise<void> {
  for (const isAnswered of [false, true]) {
    const call = client.makeBidiStreamRequest(METHODS.chat.path, same, same);
    const code = await new Promise<number>((resolve) => {
      call.on('error', (error: ServiceError) => resolve(error.code));
      if (isAnswered) call.once('data', () => call.cancel());
      call.write(MESSAGE, () => isAnswered || setImmediate(() => call.cancel()));
    });
    check(code === status.CANCELLED, `cancelled with ${code}`);
  }
}

async function grpcurl(): Promise<TrialOutcome> {
  const program = await built(GRPCURL);
  using scratch = makeScratch();
  writeFileSync(scratch.file('echo.proto'), PROTO);
  await using service = await startService();
  await using sluice = await startBetween({ upstreamPort: service.port });
  const ask = (name: string, data: string, ...more: readonly string[]): Promise<string> =>
    runProgram(program, [
      '-plaintext',
      '-import-path',
      scratch.path,
      '-proto',
      'echo.proto',
      '-d',
      data,
      ...more,
      `127.0.0.1:${sluice.port}`,
      `trial.Echo/${name}`,
    ]);
  const texts = (output: string): number => output.split('"text": "').length - 1;
  check(texts(await ask('Say', '{"text":"a"}')) === 1, 'the unary call');
  check(texts(await ask('Download', '{"text":"a"}')) === DOWNLOADED, 'the messages down');
  const three = '{"text":"a"}{"text":"b"}{"text":"c"}';
  check((await ask('Upload', three)).includes('"text": "c"'), 'the messages up');
  check(texts(await ask('Chat', three)) === 3, 'the messages both ways');
  const late = await ask('Wait', '{}', '-max-time', '1').catch((error: Error) => error.message);
  check(late.includes('DeadlineExceeded'), `no deadline: ${late}`);
  await isAllOver(sluice);
  return passed('a call of each kind, and a deadline');
}
