// Personalizer's client for JavaScript, unchanged but for its endpoint: node personalizer.mjs ENDPOINT KEY ROUNDS
import { createRequire } from "node:module";
const require = createRequire(process.cwd() + "/");
const connect = require("@azure-rest/ai-personalizer").default;
const { AzureKeyCredential } = require("@azure/core-auth");

const [endpoint, key, rounds] = process.argv.slice(2);
const client = connect(endpoint, new AzureKeyCredential(key), { allowInsecureConnection: true });
const topics = ["news", "sport", "music", "food"];
const right = [];
for (let round = 0; round < Number(rounds); round++) {
  const mobile = (round * 7) % 5 < 2, young = (round * 11) % 7 < 3;
  const best = topics[2 * mobile + young];
  const body = {
    eventId: `js-${round}`,
    contextFeatures: [{ user: { device: mobile ? "mobile" : "desktop", age: young ? "young" : "old" } }],
    actions: topics.map(topic => ({ id: topic, features: [{ topic }] })),
    excludedActions: [],
    deferActivation: round === 0,
  };
  const ranked = await client.path("/rank").post({ body });
  if (ranked.status !== "201") throw new Error(JSON.stringify(ranked.body));
  if (round === 0) {
    const shown = await client.path("/events/{eventId}/activate", ranked.body.eventId).post({});
    if (shown.status !== "204") throw new Error(shown.status);
  }
  right.push(ranked.body.rewardActionId === best);
  const paid = await client.path("/events/{eventId}/reward", ranked.body.eventId).post({ body: { value: Number(right.at(-1)) } });
  if (paid.status !== "204") throw new Error(JSON.stringify(paid.body));
}
console.log(JSON.stringify(right));
