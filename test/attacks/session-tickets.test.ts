/**
 * Tickets of one listener at another that differs in one setting. A client with a ticket gets
 * what the same client gets by a full handshake there, and sessions are resumed only where nothing
 * that decides differs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../support/attack.ts';
import { freePort } from '../support/free-port.ts';
import { bootstrap } from '../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace } from '../support/peers/discovery-files.ts';
import { makeScratch, type Scratch } from '../support/scratch.ts';
import {
  type Credential,
  makeParties,
  type SessionParties,
} from '../support/peers/session-parties.ts';
import {
  makeVariants,
  type TlsVersion,
  type Variant,
  visit,
} from '../support/peers/session-tickets.ts';
import { makeEpochs } from '../support/programs/epochs.ts';
import { startSluice } from '../support/programs/sluice.ts';
import { secretMessage } from '../support/parts/tls.ts';

/** What decides who may pass, and what does not. */
const ACROSS_EPOCHS = ['base', 'alpn', 'required', 'mismatched', 'pinned', 'revoked'];

interface Attempt {
  readonly version: TlsVersion;
  readonly credential: Credential;
  readonly from: Variant;
  readonly to: Variant;
}

const VERSIONS: readonly TlsVersion[] = ['TLSv1.2', 'TLSv1.3'];

function allAttempts({ credentials }: SessionParties, variants: readonly Variant[]): Attempt[] {
  return VERSIONS.flatMap((version) =>
    credentials.flatMap((credential) =>
      variants.flatMap((from) => variants.map((to) => ({ version, credential, from, to }))),
    ),
  );
}

/** What a client says of itself. */
function shown({ version, credential }: Attempt): Parameters<typeof visit>[1] {
  const { name: _name, ...own } = credential;
  return { ...own, minVersion: version, maxVersion: version };
}

/** Some of all, every one in the long form; those that must resume are among them. */
function chosen(attempts: Attempt[], count: number, salt: number): readonly Attempt[] {
  const random = attackRandom(salt);
  const same = ({ from, to, credential }: Attempt): boolean =>
    from === to && to.name === 'required' && credential.name === 'good';
  const shuffled = attempts
    .map((attempt) => ({ attempt, rank: same(attempt) ? -1 : random() }))
    .sort((one, other) => one.rank - other.rank);
  return shuffled.slice(0, count).map(({ attempt }) => attempt);
}

const KINDS = ['own keys', 'keys by file', 'keys by a secret'] as const;

/** Where listeners have the keys of their tickets from. */
function ticketFields(
  kind: (typeof KINDS)[number],
  parties: SessionParties,
  scratch: Scratch,
): object {
  const keys = { keys: [{ filename: parties.ticketPath }] };
  moveIntoPlace(scratch, 'keys.json', {
    version: '1',
    resources: [secretMessage('keys', { session_ticket_keys: keys })],
  });
  const source = { name: 'keys', sds_config: fileSource(scratch.file('keys.json')) };
  return {
    'own keys': {},
    'keys by file': { session_ticket_keys: keys },
    'keys by a secret': { session_ticket_keys_sds_secret_config: source },
  }[kind];
}

describe('tickets of listeners that differ in one setting', () => {
  for (const [salt, kind] of KINDS.entries()) {
    it(`let nobody pass who would not pass without one: ${kind}`, async () => {
      using scratch = makeScratch();
      const parties = makeParties(scratch);
      const variants = makeVariants(parties, ticketFields(kind, parties, scratch));
      await using sluice = await startSluice({
        bootstrap: bootstrap({ listeners: variants.map(({ listener }) => listener) }),
        concurrency: 1,
      });
      const ports = new Map<string, number>();
      for (const { name } of variants) ports.set(name, await sluice.listenerPort(name));
      const seen = await tryAll(allAttempts(parties, variants), salt, (variant) =>
        Number(ports.get(variant.name)),
      );
      assert.ok(seen.resumed > 0 && seen.refused > 0, JSON.stringify(seen));
    });
  }
});

describe('tickets of the epoch before', () => {
  for (const kind of KINDS) {
    it(`let nobody pass who would not pass without one: ${kind}`, async () => {
      await using epochs = await makeEpochs();
      const parties = makeParties(epochs.scratch);
      const tickets = ticketFields(kind, parties, epochs.scratch);
      const variants = makeVariants(parties, tickets).filter(({ name }) =>
        ACROSS_EPOCHS.includes(name),
      );
      const ports = new Map<Variant, number>();
      for (const variant of variants) ports.set(variant, await freePort());
      const portOf = (variant: Variant): number => ports.get(variant) ?? 0;
      const listeners = variants.map((variant) => ({
        ...variant.listener,
        address: { socket_address: { address: '127.0.0.1', port_value: portOf(variant) } },
      }));
      const parent = await epochs.start(0, { bootstrap: bootstrap({ listeners }) });
      const all = allAttempts(parties, variants).filter(({ credential }) =>
        ['good', 'none'].includes(credential.name),
      );
      const pairs = chosen(all, attackRuns(10, all.length), 7);
      const sessions = new Map<Attempt, Buffer | undefined>();
      for (const attempt of pairs) {
        sessions.set(attempt, (await visit(portOf(attempt.from), shown(attempt))).session);
      }
      await epochs.start(1, { bootstrap: bootstrap({ listeners }) });
      await parent.exited();
      let resumed = 0;
      for (const attempt of pairs) {
        const { version, credential, from, to } = attempt;
        const session = sessions.get(attempt);
        if (session === undefined) continue;
        const full = await visit(portOf(to), shown(attempt));
        const again = await visit(portOf(to), { ...shown(attempt), session });
        const case_ = `${version} ${credential.name} from ${from.name} to ${to.name}`;
        assert.equal(again.passes, full.passes, `${case_}: passes`);
        const mayResume = from.group === to.group && to.resumes;
        if (!mayResume) assert.equal(again.isReused, false, `${case_}: resumed`);
        else if (kind !== 'own keys' && full.passes) {
          assert.equal(again.isReused, true, `${case_}: resumed`);
        }
        resumed += Number(again.isReused);
      }
      assert.ok(kind === 'own keys' || resumed > 0);
    });
  }
});

async function tryAll(
  all: Attempt[],
  salt: number,
  portOf: (variant: Variant) => number,
): Promise<{ readonly resumed: number; readonly refused: number }> {
  const seen = { resumed: 0, refused: 0 };
  const attempts = chosen(all, attackRuns(26, all.length), salt);
  for (const turn of attackTurns(attempts.length, attempts.length)) {
    const { version, credential, from, to } = attempts[turn]!;
    const { name, ...shown } = credential;
    const options = { ...shown, minVersion: version, maxVersion: version };
    const first = await visit(portOf(from), options);
    const full = await visit(portOf(to), options);
    const { session } = first;
    if (session === undefined) continue;
    const again = await visit(portOf(to), { ...options, session });
    const case_ = `${version} ${name} from ${from.name} (${first.passes}) to ${to.name}`;
    assert.equal(again.passes, full.passes, `${case_}: passes`);
    const mayResume = from.group === to.group && to.resumes;
    if (!mayResume) assert.equal(again.isReused, false, `${case_}: resumed`);
    else if (full.passes) assert.equal(again.isReused, true, `${case_}: resumed`);
    seen.resumed += Number(again.isReused);
    seen.refused += Number(!again.passes);
  }
  return seen;
}
