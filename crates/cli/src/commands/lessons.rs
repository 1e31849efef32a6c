//! The lessons of `rosenblatt demo LESSON`: rows that fit on a blackboard, and what to type about them.

use rosenblatt::blackboard;

/// Rows, and the commands that make a lesson of them.
pub(super) struct Lesson {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The rows, as a table; kept as the lesson's name with `.csv`.
    pub(super) rows: &'static str,
    /// What is typed, after `rosenblatt`.
    pub(super) lines: &'static [&'static str],
    /// What was to be seen.
    pub(super) moral: &'static str,
}

pub(super) const LESSONS: &[Lesson] = &[
    Lesson {
        name: "and",
        about: "The logical AND: a line can tell it, and the perceptron finds one",
        rows: blackboard::AND,
        lines: &["trace and.csv", "certify and.csv", "plot boundary and.csv --frames -o and.svg"],
        moral: "Every mistake turned the line a little; once a whole epoch went by without one, it stood still. The\n\
                proof counts how many mistakes there can be at most, whatever the order of the rows.",
    },
    Lesson {
        name: "xor",
        about: "The exclusive OR: no line can tell it, and here is the proof",
        rows: blackboard::XOR,
        lines: &["trace xor.csv", "certify xor.csv", "plot boundary xor.csv --frames -o xor.svg"],
        moral: "The four steps of an epoch add up to nothing, so the perceptron goes round for ever. `demo kernel`\n\
                tells these rows apart with one more feature.",
    },
    Lesson {
        name: "lecture",
        about: "The worked example of the lecture: four points, a line through the origin",
        rows: blackboard::LECTURE,
        lines: &[
            "trace lecture.csv --bias none",
            "trace lecture.csv --bias none --to latex",
            "plot boundary lecture.csv --bias none --frames -o lecture.svg",
        ],
        moral: "Three mistakes, then a clean epoch. `--zero`, `--mistake`, `--bias` and `--order` name the points on\n\
                which textbooks disagree; `rosenblatt trace --help` lists them.",
    },
    Lesson {
        name: "margin",
        about: "How wide the road between the classes is, and how many mistakes that allows",
        rows: blackboard::MARGIN,
        lines: &[
            "trace margin.csv",
            "certify margin.csv",
            "plot boundary margin.csv --frames -o margin.svg",
            "plot boundary margin.csv --algorithm minover --scale none --epochs 2000 -o margin-widest.svg",
        ],
        moral: "The perceptron takes the first line that works; the widest road is what `minover` and support vector\n\
                machines look for. Mistakes never exceed (R/margin)^2, both measured with the bias as a feature\n\
                that is always 1, and here they stayed below it.",
    },
    Lesson {
        name: "voted",
        about: "Noisy rows: why the last hypothesis is not the one to keep",
        rows: blackboard::VOTED,
        lines: &[
            "trace voted.csv --rounds 20",
            "compare voted.csv --algorithms perceptron:last,perceptron:averaged,perceptron:voted",
            "plot boundary voted.csv --frames -o voted.svg",
            "plot curves voted.csv --readouts last,averaged,voted -o voted-curves.svg",
        ],
        moral: "The last hypothesis has just reacted to one row, and its error jumps from epoch to epoch. The average of\n\
                all, each weighted by the rounds it survived, or a vote with the same weights, is steadier.",
    },
    Lesson {
        name: "kernel",
        about: "What no line can tell, one more feature can: from a product to a kernel",
        rows: blackboard::XOR,
        lines: &[
            "trace kernel.csv",
            "trace kernel.csv --cross x1,x2",
            "certify kernel.csv --kernel poly --degree 2 --bias none",
            "plot boundary kernel.csv --cross x1,x2 --columns 1,3 --frames -o kernel.svg",
            "plot boundary kernel.csv --kernel poly --degree 2 -o kernel-poly.svg",
        ],
        moral: "With x1 times x2 as a third feature the weights settle on it alone. The polynomial kernel of degree 2\n\
                holds that product among others, and computes with it without ever writing it down.",
    },
    Lesson {
        name: "xor-mlp",
        about: "What no line can tell, two can: the exclusive OR, learned by two hidden units",
        rows: blackboard::XOR_BITS,
        lines: &[
            "trace xor-mlp.csv --algorithm mlp --hidden 2 --activation tanh --rate 0.5",
            "plot boundary xor-mlp.csv --algorithm mlp --hidden 2 --activation tanh --rate 0.1 --epochs 300 \
             --frames=12 -o xor-mlp.svg",
        ],
        moral: "Each hidden unit has a line of its own, and the score adds up what they say of their sides: between the\n\
                lines one class, beyond them the other. Back-propagation moved both lines at once, each as far as it\n\
                had a part in the loss. `demo approximation` shows what ever more units can do.",
    },
];
