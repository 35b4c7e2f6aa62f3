// What the user has chosen; all of it stands in the address, so that a link or the back button restores it.
const DEFAULTS = { q: "", show: "all", queue: "", job: "", priority: "", colour: "change", group: "", at: "", vs: "", list: "jobs", sort: "", chosen: "" };

function readState() {
  const state = { ...DEFAULTS };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) if (key in state) state[key] = value;
  return state;
}

function writeState(state, isStep) {
  const said = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) if (value !== DEFAULTS[key]) said.set(key, value);
  const text = said.toString();
  if (text === location.hash.slice(1)) return;
  const address = text ? `#${text}` : location.pathname + location.search;
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// An element; attributes whose value is false are left out, strings become text and never markup.
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [property, text] of Object.entries(value)) made.style.setProperty(property, text);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}
