/** Tickets that outlive the rules that they were given under. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, GREETING } from '../../support/parts/bootstrap.ts';
import {
  certificateFiles,
  secretMessage,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { freePort, loopback, makeEpochs } from '../../support/programs/epochs.ts';
import { makeScratch } from '../../support/scratch.ts';
import { makeParties, type SessionParties } from '../../support/peers/session-parties.ts';
import { visit } from '../../support/peers/session-tickets.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

function credential({ credentials }: SessionParties, wanted: string): object {
  const { name: _, ...found } = credentials.find(({ name }) => name === wanted) ?? { name: '' };
  return found;
}

function listenerOf(name: string, port: number, fields: object): object {
  const listener = secureListener(GREETING, tlsSocket('Downstream', fields));
  return { ...listener, name, address: loopback(port) };
}

async function counter(sluice: Sluice, name: string): Promise<number> {
  return Number(/: (\d+)\n/.exec(await sluice.stats(`filter=${name}`))?.[1]);
}

describe('tickets under other rules than before', () => {
  it('do not stand for a certificate that the next epoch asks for', async () => {
    await using epochs = await makeEpochs();
    const parties = makeParties(epochs.scratch);
    const [changed, kept] = [epochs.port, await freePort()];
    const common_tls_context = {
      tls_certificates: [certificateFiles(parties.server)],
      validation_context: { trusted_ca: { filename: parties.authority.certPath } },
    };
    const session_ticket_keys = { keys: [{ filename: parties.ticketPath }] };
    const listeners = (isRequired: boolean): object =>
      bootstrap(
        {
          listeners: [
            listenerOf('changed', changed, {
              common_tls_context,
              session_ticket_keys,
              require_client_certificate: isRequired,
            }),
            listenerOf('kept', kept, { common_tls_context, session_ticket_keys }),
          ],
        },
        { admin: { address: loopback(epochs.adminPort) } },
      );
    const parent = await epochs.start(0, { bootstrap: listeners(false) });
    const good = credential(parties, 'good');
    const tickets = [];
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { passes, session: free } = await visit(changed, { maxVersion });
      const { session: named } = await visit(kept, { maxVersion, ...good });
      assert.ok(passes && free !== undefined && named !== undefined);
      tickets.push({ maxVersion, free, named });
    }
    await using child = await epochs.start(1, { bootstrap: listeners(true) });
    await parent.exited();
    for (const { maxVersion, free, named } of tickets) {
      const refused = await visit(changed, { maxVersion, session: free });
      assert.deepEqual([refused.passes, refused.isReused], [false, false]);
      const again = await visit(kept, { maxVersion, session: named });
      assert.deepEqual([again.passes, again.isReused], [true, true]);
    }
    assert.equal(await counter(child, `_${changed}.ssl.fail_verify_no_cert`), 2);
  });

  it('mean a full handshake once another authority is trusted, or the keys are others', async () => {
    using scratch = makeScratch();
    const parties = makeParties(scratch);
    const trust = (version: string, filename: string): void =>
      moveIntoPlace(scratch, 'trust.json', {
        version,
        resources: [secretMessage('trust', { validation_context: { trusted_ca: { filename } } })],
      });
    const keys = (version: string, filename: string): void =>
      moveIntoPlace(scratch, 'keys.json', {
        version,
        resources: [secretMessage('keys', { session_ticket_keys: { keys: [{ filename }] } })],
      });
    const named = (name: string): object => ({
      name,
      sds_config: fileSource(scratch.file(`${name}.json`)),
    });
    trust('1', parties.authority.certPath);
    keys('1', parties.ticketPath);
    const listener = listenerOf('web', 0, {
      common_tls_context: {
        tls_certificates: [certificateFiles(parties.server)],
        validation_context_sds_secret_config: named('trust'),
      },
      require_client_certificate: true,
      session_ticket_keys_sds_secret_config: named('keys'),
    });
    await using sluice = await startSluice({
      bootstrap: {
        ...bootstrap({ listeners: [listener] }),
        node: { id: 'me', cluster: 'mine' },
      },
      concurrency: 1,
    });
    const port = await sluice.listenerPort('web');
    const updated = async (count: number): Promise<void> => {
      await waitUntil('the secret is in use', async () => {
        return (await counter(sluice, 'ssl_context_update_by_sds')) === count;
      });
    };
    await updated(2);
    const good = credential(parties, 'good');
    const { session } = await visit(port, good);
    assert.ok((await visit(port, { ...good, session })).isReused);
    writeFileSync(scratch.file('others'), randomBytes(80));
    keys('2', scratch.file('others'));
    await updated(3);
    const renewed = await visit(port, { ...good, session });
    assert.deepEqual([renewed.passes, renewed.isReused], [true, false]);
    keys('3', parties.ticketPath);
    await updated(4);
    assert.ok((await visit(port, { ...good, session })).isReused);
    trust('2', parties.other.certPath);
    await updated(5);
    const refused = await visit(port, { ...good, session });
    assert.deepEqual([refused.passes, refused.isReused], [false, false]);
    trust('3', parties.bothPath);
    await updated(6);
    const full = await visit(port, { ...good, session });
    assert.deepEqual([full.passes, full.isReused], [true, false]);
    assert.ok((await visit(port, { ...good, session: full.session })).isReused);
  });
});
