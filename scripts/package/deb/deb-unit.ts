/** The units of scripts/systemd as the Debian package has them: a user that stays, programs at their place. */

/** A key file that /etc/sluice names must be readable by somebody whose name is known: no DynamicUser. */
export function debUnit(unit: string): string {
  const text = unit
    .replace('DynamicUser=yes', 'User=sluice\nGroup=sluice')
    .replace('ExecStart=/usr/bin/env sluice-restarter', 'ExecStart=/usr/bin/sluice-restarter')
    .replace('Documentation=man:systemd.service(5)', 'Documentation=man:sluice(1)');
  if (text.includes('DynamicUser') || text.includes('/usr/bin/env')) {
    throw new Error('a unit of scripts/systemd has another form than the package expects');
  }
  return text;
}
