/**
 * Puts the admin home page's own files beside the compiled code, or leaves them out with
 * `SLUICE_ADMIN_HTML=disabled`; the page then says so.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export function copyAdminPages(projectRoot: string): void {
  const target = join(projectRoot, 'dist', 'supervisor', 'admin', 'html');
  rmSync(target, { recursive: true, force: true });
  if (process.env['SLUICE_ADMIN_HTML'] === 'disabled') return;
  cpSync(join(projectRoot, 'supervisor', 'admin', 'html'), target, { recursive: true });
}
