//! The lessons of `rosenblatt demo LESSON`: rows that fit on a blackboard, and what to type about them.

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
        rows: "x1,x2,class\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n",
        lines: &["trace and.csv", "certify and.csv", "plot boundary and.csv --frames -o and.svg"],
        moral: "Every mistake turned the line a little; once a whole epoch went by without one, it stood still. The\n\
                proof counts how many mistakes there can be at most, whatever the order of the rows.",
    },
    Lesson {
        name: "xor",
        about: "The exclusive OR: no line can tell it, and here is the proof",
        rows: "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n",
        lines: &["trace xor.csv", "certify xor.csv", "plot boundary xor.csv --frames -o xor.svg"],
        moral: "The four steps of an epoch add up to nothing, so the perceptron goes round for ever. `demo kernel`\n\
                tells these rows apart with one more feature.",
    },
    Lesson {
        name: "lecture",
        about: "The worked example of the lecture: four points, a line through the origin",
        rows: "x1,x2,class\n4,0,plus\n1,1,minus\n0,1,minus\n-2,-2,plus\n",
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
        rows: "x1,x2,class\n2,1,minus\n5,6,plus\n4,5,plus\n6,4,plus\n6,3,plus\n0,0,minus\n3,5,plus\n1,1,minus\n",
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
        rows: "x1,x2,class\n1.9,-0.8,plus\n-0.2,0.6,plus\n-0.8,-1,minus\n1.4,-0.3,plus\n0.2,-0.6,minus\n\
               -0.6,1.8,minus\n-0.7,-0.6,minus\n0,-1,minus\n0.7,0.7,plus\n-0.2,1,plus\n1,1.3,plus\n0.8,0.8,plus\n\
               -2.2,-1.1,minus\n2.9,0.5,plus\n0.1,2,plus\n0.1,-1,minus\n-1.3,-1.3,minus\n0.5,-1.9,minus\n\
               -1.1,-0.7,minus\n1.2,-0.4,plus\n-0.6,0.1,plus\n-1.7,0.2,minus\n-0.7,-1.8,minus\n0.7,0.6,plus\n\
               0.1,-2.1,plus\n-1.4,-0.2,minus\n0.8,-0.8,minus\n-0.4,-1.2,minus\n0.4,-1,minus\n0.7,1.9,plus\n\
               0.8,-0.5,minus\n0.3,-1.7,minus\n-2.2,-0.8,minus\n2.8,1.3,plus\n-0.5,0.5,minus\n0.3,1.3,plus\n\
               -1.9,-1.6,minus\n1.6,0.7,plus\n-0.8,-0.4,plus\n-0.4,-2.4,minus\n1.7,-0.7,plus\n1.1,0.6,plus\n\
               -0.9,-0.1,minus\n-1.1,-0.3,minus\n0.3,0.5,plus\n0.6,-0.5,plus\n0.7,0.6,plus\n0.3,0.9,plus\n\
               1.9,-0.1,plus\n-0.6,-0.5,plus\n1.5,0.7,plus\n-0.1,0.7,minus\n-1.6,-0.8,minus\n-0.5,-1.8,minus\n\
               0.3,-0.2,plus\n-1.5,0.7,minus\n0.1,3.1,plus\n-1.6,1.3,minus\n2.4,0,plus\n0.9,0.7,plus\n",
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
        rows: "x1,x2,class\n1,1,same\n1,-1,other\n-1,1,other\n-1,-1,same\n",
        lines: &[
            "trace kernel.csv",
            "trace kernel.csv --cross x1,x2",
            "certify kernel.csv --kernel poly --degree 2 --through-origin",
            "plot boundary kernel.csv --cross x1,x2 --columns 1,3 --frames -o kernel.svg",
            "plot boundary kernel.csv --kernel poly --degree 2 -o kernel-poly.svg",
        ],
        moral: "With x1 times x2 as a third feature the weights settle on it alone. The polynomial kernel of degree 2\n\
                holds that product among others, and computes with it without ever writing it down.",
    },
    Lesson {
        name: "xor-mlp",
        about: "What no line can tell, two can: the exclusive OR, learned by two hidden units",
        rows: "x1,x2,class\n0,0,same\n0,1,other\n1,0,other\n1,1,same\n",
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
