"""Has rattler-build read the conda recipe for each platform, and build and test the package of this one.

python recipe.py RECIPE FOLDER OUT: every address names an archive of FOLDER and has its sum; nothing is downloaded.
"""

import hashlib
import sys
from pathlib import Path

import rattler_build as rb

recipe, folder, out = (Path(word).resolve() for word in sys.argv[1:4])
for platform in ["linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"]:
    here = rb.PlatformConfig(target_platform=platform, host_platform=platform)
    for variant in rb.Stage0Recipe.from_file(recipe).render(rb.VariantConfig(), rb.RenderConfig(platform=here)):
        sources = variant.recipe.to_dict()["source"]
        (source,) = sources if isinstance(sources, list) else [sources]
        name = source["url"].rsplit("/", 1)[-1]
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert found == source["sha256"], f"{platform}: {name} has another sum"
        print(f"{platform}: {name}")

# The same recipe, with this folder in place of the address.
text = recipe.read_text()
address = next(line for line in text.splitlines() if "url: " in line).split("url: ")[1].rsplit("/", 1)[0]
out.mkdir(parents=True, exist_ok=True)
local = out / "recipe.yaml"
local.write_text(text.replace(f"url: {address}/", f"url: {folder.as_uri()}/"))
# An empty channel, so that none of the network is asked.
channel = out / "channel"
for part in ["noarch", "linux-64", "linux-aarch64", "osx-64", "osx-arm64"]:
    (channel / part).mkdir(parents=True, exist_ok=True)
    (channel / part / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}')
channels = [channel.as_uri()]
for built in rb.Stage0Recipe.from_file(local).run_build(channels=channels, output_dir=out / "packages"):
    for path in built.packages:
        package = rb.Package.from_file(path)
        tested = package.run_tests(channel=channels)
        assert tested and all(test.success for test in tested), [test.output for test in tested]
        print(f"{Path(path).name}: {len(package.files)} files, {len(tested)} test")
