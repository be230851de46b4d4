const { once } = require('node:events');

module.exports = async () => {
  globalThis.keyhearth.stdin.end();
  await once(globalThis.keyhearth, 'exit');
};
