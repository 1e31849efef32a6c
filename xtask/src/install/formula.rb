# Homebrew's words, as far as the formula uses them: ruby formula.rb FORMULA FOLDER PREFIX
#
# Every address names an archive of FOLDER and has its sum; what the one for this machine holds is installed below PREFIX, and the
# formula's own test runs there.
require "digest"
require "fileutils"
require "pathname"

FOLDER = Pathname(ARGV[1])
PREFIX = Pathname(ARGV[2])

class Pathname
  def install(*sources)
    mkpath
    sources.flatten.each do |source|
      pairs = source.is_a?(Hash) ? source : { source => File.basename(source) }
      pairs.each { |from, name| FileUtils.cp(from, self / name) }
    end
  end
end

class Formula
  class << self
    attr_reader :archives, :check

    def desc(text) = (raise text if text.length > 80 || text.end_with?("."))
    def homepage(_) = nil
    def license(_) = nil
    def version(text = nil) = text ? @version = text : @version
    def on_macos(&block) = on("apple-darwin", &block)
    def on_linux(&block) = on("unknown-linux-musl", &block)
    def on_arm(&block) = on("aarch64", &block)
    def on_intel(&block) = on("x86_64", &block)
    def test(&block) = @check = block

    def url(address)
      @at = "#{@on.last}-#{@on.first}"
      (@archives ||= {})[@at] = File.basename(address)
    end

    def sha256(sum)
      name = @archives.fetch(@at)
      raise "#{name} is not for #{@at}" unless name.include?(@at)
      raise "#{name}: another sum" unless Digest::SHA256.file(FOLDER / name).hexdigest == sum
    end

    def on(what)
      (@on ||= []) << what
      yield
      @on.pop
    end
  end

  def bin = PREFIX / "bin"
  def man1 = PREFIX / "share/man/man1"
  def bash_completion = PREFIX / "etc/bash_completion.d"
  def zsh_completion = PREFIX / "share/zsh/site-functions"
  def fish_completion = PREFIX / "share/fish/vendor_completions.d"
  def testpath = PREFIX
  def version = self.class.version

  def shell_output(command)
    printed = `#{command}`
    $?.success? ? printed : raise("#{command}: #{$?}")
  end

  def assert_match(part, text) = text.include?(part) || raise("expected #{part}, found #{text}")
end

load ARGV[0]
formula = Rosenblatt
here = RUBY_PLATFORM.include?("darwin") ? "apple-darwin" : "unknown-linux-musl"
cpu = RUBY_PLATFORM.match?(/arm64|aarch64/) ? "aarch64" : "x86_64"
raise "expected four archives, found #{formula.archives}" unless formula.archives.length == 4

archive = FOLDER / formula.archives.fetch("#{cpu}-#{here}")
unpacked = PREFIX / "unpacked"
unpacked.mkpath
system("tar", "-xzf", archive.to_s, "-C", unpacked.to_s, "--strip-components=1", exception: true)
Dir.chdir(unpacked) { formula.new.install }
formula.new.instance_eval(&formula.check)
