/** Asks the person at the terminal whether a vault of the product's former name is moved to where it is looked for now. */
import type { Config } from '../../app/config.ts';
import { findFormerVault, leaveFormerVault, moveFormerVault } from '../../app/former-vault.ts';
import { formerTitle } from '../../lib/text/former-name.ts';
import { note } from '../shared/output.ts';
import { askYesOrNo } from '../shared/prompts.ts';
import { canAsk } from '../shared/secrets.ts';

/** Offers to move the vault. Without a terminal, a notice names it. */
export async function offerFormerVault(config: Config, json: boolean): Promise<'moved' | 'not moved'> {
  const found = findFormerVault(config);
  if (found === undefined) return 'not moved';
  const { from, to } = found.vault;
  if (json || !canAsk()) {
    note(
      `A vault from when Keyhearth was named ${formerTitle} is in ${from}. Run \`keyhearth serve\` in a terminal to have it moved to ${to}, or serve it there with --data-dir.`,
    );
    return 'not moved';
  }
  const message = `Keyhearth was named ${formerTitle} before. Move your vault from ${from} to ${to}?`;
  if (!(await askYesOrNo({ message }, 'nothing was moved'))) {
    leaveFormerVault(found);
    note(`Your vault stays in ${from}. Serve it with --data-dir ${from}`);
    return 'not moved';
  }
  moveFormerVault(found);
  note(`Your vault is in ${to} now.`);
  return 'moved';
}
