// Loaded before what `npm start` and `npm test` run: says in one line what is missing where `npm install` ran without its
// scripts, which bring the Node that all else runs on. Plain JavaScript for Node 20.
import process from 'node:process';

if (!process.features.typescript) {
  process.stderr.write(
    `Keyhearth runs on Node 24, which the scripts of \`npm install\` bring, and this is ${process.version}. Run \`npm install\` again, without --ignore-scripts.\n`,
  );
  process.exit(1);
}
