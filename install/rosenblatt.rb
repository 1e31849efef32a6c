# A template: `cargo xtask release` fills in the version, the address and the sums.
class Rosenblatt < Formula
  desc "Train, explain, serve and certify linear models of the perceptron family"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/rosenblatt-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/rosenblatt-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/rosenblatt-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/rosenblatt-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "rosenblatt"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/rosenblatt.bash" => "rosenblatt"
    zsh_completion.install "completions/_rosenblatt"
    fish_completion.install "completions/rosenblatt.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rosenblatt --version")
    (testpath/"points.csv").write "x,y,class\n1,0,a\n0,1,b\n"
    assert_match "SEPARABLE", shell_output("#{bin}/rosenblatt certify points.csv")
  end
end
