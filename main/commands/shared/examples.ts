/** Examples in the help of each command of the first level. A test parses every one. */

export const examples: Readonly<Record<string, readonly string[]>> = {
  init: [
    'keyhearth init --organization Home --user Ann',
    'keyhearth init --organization Home --user Ann --no-keychain',
  ],
  serve: [
    'keyhearth serve',
    'keyhearth serve --ui --open',
    'keyhearth serve --password-file /run/secrets/vault',
  ],
  dev: ['keyhearth dev', 'keyhearth dev -- npm test', 'keyhearth dev --seed 1 --clock fixed'],
  status: ['keyhearth status', 'keyhearth status --json'],
  unlock: ['keyhearth unlock', 'keyhearth unlock --password-file password.txt'],
  lock: ['keyhearth lock'],
  freeze: ['keyhearth freeze'],
  open: ['keyhearth open'],
  service: ['keyhearth service install', 'keyhearth service install --print', 'keyhearth service status'],
  settings: ['keyhearth settings list', 'keyhearth settings set autoLock.idleMinutes 30'],
  doctor: ['keyhearth doctor', 'keyhearth doctor --json'],
  wallets: [
    'keyhearth wallets create --name Daily --account ethereum --account bitcoin',
    'keyhearth wallets add Daily --account ethereum',
    'keyhearth wallets show Daily',
  ],
  'private-keys': [
    'keyhearth private-keys create --name Deployer --curve secp256k1 --address-format ethereum',
    'keyhearth private-keys show Deployer',
  ],
  sign: [
    'keyhearth sign payload message.txt --encoding text --hash keccak256 --with 0x3b8c… --yes',
    'keyhearth sign transaction unsigned.hex --type ethereum --with 0x3b8c… --dry-run',
  ],
  import: [
    'keyhearth import wallet --name Savings --account ethereum --mnemonic-file words.txt',
    'keyhearth import private-key --name Deployer --curve secp256k1 --key-file key.hex',
  ],
  export: [
    'keyhearth export wallet Savings --output words.txt',
    'keyhearth export account 0x3b8c… --output key.hex',
  ],
  secret: [
    'keyhearth secret set database-password --property env=live',
    'keyhearth secret set deploy-key --value-file id_ed25519 --replace',
    'keyhearth secret get database-password --output password.txt',
  ],
  run: ['keyhearth run --env .env.keyhearth -- npm start'],
  bots: [
    'keyhearth bots add payer --wallet Daily --budget "0.05 ETH/day"',
    'keyhearth bots list',
    'keyhearth bots remove payer',
  ],
  agents: [
    'keyhearth agents add claude --wallet Daily --budget "5 USDC/day" --to 0x71c7656ec7ab88b098defb751b7401b5f6d8976f',
    'keyhearth agents list',
    'keyhearth agents pause claude',
    'keyhearth agents skill',
  ],
  mcp: ['keyhearth mcp --as claude'],
  doors: [
    'keyhearth doors add laptop',
    'keyhearth doors add ci --ask --expires 30',
    'keyhearth doors on ssh',
  ],
  ssh: ['keyhearth ssh keys --add github', 'keyhearth ssh setup --host github.com', 'keyhearth ssh agent'],
  git: ['keyhearth git setup', 'keyhearth git setup --global --key github'],
  takeover: ['keyhearth takeover', 'keyhearth takeover --yes --delete --password-file password.txt'],
  rpc: [
    'keyhearth rpc add forge --wallet Deployer --budget "0.5 ETH/day" --chain 1,11155111 --expires 30d',
    'keyhearth rpc list',
    'keyhearth rpc remove forge',
  ],
  addresses: [
    'keyhearth addresses add Landlord 0x3b8c…',
    'keyhearth addresses list',
    'keyhearth addresses remove Landlord',
  ],
  users: [
    'keyhearth users create --name Ben --email ben@example.com',
    'keyhearth users rename Ben Benjamin',
    'keyhearth users tags create Traders --user Ben',
  ],
  keygen: ['keyhearth keygen --name ben --user Ben', 'keyhearth keygen --name owner --register'],
  policies: [
    `keyhearth policies create --name "Payers may sign" --effect allow --condition "activity.action == 'SIGN'"`,
    'keyhearth policies test draft.json --against last:1000',
    'keyhearth policies explain 01a2018f',
  ],
  approvals: [
    'keyhearth approvals list',
    'keyhearth approvals show 01a2018f',
    'keyhearth approvals approve 01a2018f',
  ],
  sessions: ['keyhearth sessions list --user Ben', 'keyhearth sessions revoke --user Ben'],
  request: [
    `keyhearth request --path /public/v1/query/whoami --body '{}'`,
    'keyhearth request --path /public/v1/submit/create_wallet --body @wallet.json --dry-run',
  ],
  stamp: ['keyhearth stamp --body @body.json'],
  requests: ['keyhearth requests --failed', 'keyhearth requests --follow'],
  activities: ['keyhearth activities list --status rejected', 'keyhearth activities show 01a2018f'],
  audit: ['keyhearth audit verify', 'keyhearth audit export log.jsonl', 'keyhearth audit verify log.jsonl'],
  webhooks: ['keyhearth webhooks listen --port 8080', 'keyhearth webhooks deliveries --state parked'],
  messages: [
    'keyhearth messages mail --host smtp.example.com --user ann --password-file smtp.txt --from ann@example.com',
    'keyhearth messages test mail ann@example.com',
  ],
  keyslots: [
    'keyhearth keyslots add password',
    'keyhearth keyslots change recovery --output new-words.txt',
    'keyhearth keyslots rotate --recovery-file words.txt',
  ],
  recovery: [
    'keyhearth recovery check --recovery-file words.txt',
    'keyhearth recovery sheet --shares 2-of-3 --output shares.html --recovery-file words.txt',
  ],
  backup: [
    'keyhearth backup',
    'keyhearth backup verify vault.backup',
    'keyhearth backup schedule ~/backups --hours 6',
  ],
  restore: ['keyhearth restore vault.backup', 'keyhearth restore vault.backup --recovery-file words.txt'],
  docs: ['keyhearth docs', 'keyhearth docs policies'],
  completion: ['eval "$(keyhearth completion bash)"', 'keyhearth completion fish | source'],
};

/** @returns the examples of a command under their heading; empty where it has none. */
export function examplesOf(name: string): string {
  const lines = Object.hasOwn(examples, name) ? examples[name] : undefined;
  return lines === undefined ? '' : `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
